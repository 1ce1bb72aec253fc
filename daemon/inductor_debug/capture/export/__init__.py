"""The stage that asks `torch.export` whether it takes a target, and what becomes of the sizes of its inputs.

`export_run` exports in both modes, `symbol_watch` has the private names of torch by which it sees every decision about
sizes and values, `export_findings` says where export stops, `shape_rows` what each dimension became, `format_rows`
which formats take the program (`program_formats` asks them), `exported_graph` its graph. May import what stages may.
"""
