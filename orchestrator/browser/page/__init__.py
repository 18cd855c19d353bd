"""What is read of a page: its accessibility tree, its layout, what locators ask for."""
