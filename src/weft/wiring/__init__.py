"""Where the parts meet the world: real clocks, stores, backends and the environment."""
