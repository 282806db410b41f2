"""A run from request to outcome: start, open, recover, resume, with real clocks and stores."""
