"""For those who extend Weft: the conformance suite for backends, and the simulator."""
