"""Fixes of graph breaks: code that torch.compile cannot capture in another form that means the same.

Every one of them claims to keep what the model computes, so that none is offered before that was compared.
"""
