"""Pairs of hits, weighed as wholes: views, their features, the forest that weighs them, and what stands then.

Above: `reconciliation`. Below: `claims`, `align`, `kinds`. Pure.
"""
