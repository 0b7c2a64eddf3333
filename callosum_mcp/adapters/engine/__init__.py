"""Any MCP or HTTP memory as a store, by configuration alone: a mapping instead of code.

Above: the registry. Below: `preset` (what is known of a product), `session` and `rest` (asking), `reply` (reading).
"""
