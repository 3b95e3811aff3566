"""The pages of the viewer, one module each. A page reads its address, calls operations, and fills its template."""
