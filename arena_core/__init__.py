"""What every package needs: errors, worlds, actions, cookies. It imports none of the others."""
