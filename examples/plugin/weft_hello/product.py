"""`weft hello` as a product: its parts by import path, so that naming them loads nothing.

pip install ./examples/plugin
weft --help
"""

from weft import Product

PRODUCT = Product(
    name="hello",
    summary="Find a text again by mutation and selection.",
    app="weft_hello.cli:app",
    searches={"hello.evolve": "weft_hello.search:evolve"},
    pages="weft_hello.report:pages",
    lines="weft_hello.report:lines",
)
