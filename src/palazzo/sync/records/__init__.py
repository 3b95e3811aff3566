"""Records: what each kind of record is, in a module for each family of kinds; `kind_registry` lists all kinds."""
