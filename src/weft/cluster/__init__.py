"""Other machines: node files, SSH, starting and stopping Ray, and the names of this host."""
