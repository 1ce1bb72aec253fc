"""What tensors without values cannot do by themselves, and what stands in for it while user code runs on them.

Used by the rungs of model building (`capture.tensors.fake_mode`). It imports torch alone, and nothing of the rooms
around it.
"""
