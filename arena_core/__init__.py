"""What every package needs: errors, worlds, actions, plug-ins. It imports none of the others."""
