"""Other machines: node files, SSH, starting and stopping Ray, and what this host is called."""
