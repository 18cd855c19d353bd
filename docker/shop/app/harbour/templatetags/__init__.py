"""Tags of the shop's templates."""
