"""A survey as people and programs read it: terminal, Markdown, CSV, JSON, one page, charts; and two surveys compared.

All formats have the columns of `survey_columns`. It knows the rows of `shared_schema` and nothing of how they came.
"""
