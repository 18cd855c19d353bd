"""What tests share: runs, studies, agents, sites, worlds and tasks, made in few words."""
