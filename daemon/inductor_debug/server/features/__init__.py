"""What an editor shows at a place: fixes, lenses, hovers, hints, pulled diagnostics.

May call commands; no command knows a feature.
"""
