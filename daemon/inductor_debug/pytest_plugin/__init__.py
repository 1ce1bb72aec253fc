"""The pytest plugin: `--inductor-debug`, the marker `inductor_debug` and the fixture `compile_report`.

Every pytest of an environment loads `plugin`, so that imports nothing but pytest until it is used. Models run in worker
processes; the process of the tests imports no torch for them. Imports `scripting` and what lies below it.
"""
