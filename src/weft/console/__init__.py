"""What commands share: options, progress, rendering."""
