"""Parts that commands share: options, progress, rendering."""
