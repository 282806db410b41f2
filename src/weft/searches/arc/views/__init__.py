"""Tasks, answers and programs drawn: in the terminal, as SVG and PNG, on the report's page.

model ──► terminal, page               blocks ──► layout ──► svg, png
"""
