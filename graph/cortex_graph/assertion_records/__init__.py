"""Records of assertions: who, when, with which proof, withdrawn."""
