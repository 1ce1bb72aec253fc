"""What a target's run left out: branches that it did not take, loops without a turn, methods that nobody called.

`instruction_watching` notes which instructions of the file ran, `untaken_blocks` knows from the syntax tree what could
have run and what is worth checking there, `untaken` lays one on the other. Nothing here runs anything, and words are
the rules'.
"""
