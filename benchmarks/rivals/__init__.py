"""Other engines, each behind one function; `table.py` lists them, `__main__.py` measures one."""
