"""What is known of single nodes of captured graphs beyond their tables: the kind of work, its cost, who blames them.

Tables (`capture.graph_tables`) are made of graphs alone; what stands here comes from the operations that nodes ran.
"""
