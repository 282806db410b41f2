"""The searches that ship with Weft, each a product of its own behind `weft.product`."""
