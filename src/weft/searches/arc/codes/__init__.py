"""Numbers of kernels and parameters, shared by definitions and kernels; imports neither."""
