"""`inductor-debug bench bugs`: single mistakes planted into real models that declare no inputs, and which are found."""
