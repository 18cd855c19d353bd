"""Whether tasks still hold: their references played again and again, without any model."""
