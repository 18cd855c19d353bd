"""What runs things: engine, fleet, gateway, browser, agents, runs, reports."""
