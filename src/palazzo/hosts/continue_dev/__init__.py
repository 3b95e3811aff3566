"""Continue, an extension of editors with agents; its sessions are read, and its agents get tools and instructions."""
