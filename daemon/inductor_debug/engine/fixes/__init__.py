"""Fixes: small edits of a document that may mend a finding. Pure text and syntax trees; nothing is ever run here.

A fix is a guess until an analysis of the edited text has proved it (`proof`); nobody may offer it before.
"""
