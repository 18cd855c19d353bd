"""Selenium plays an episode of Arena; `chromedriver` is on PATH.

pip install selenium==4.51.0
arena eval wiki-bells-of-bruges --agent-cmd 'python selenium_agent.py'
"""

from __future__ import annotations

import json
import os
import re
import sys
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.common.by import By

options = webdriver.ChromeOptions()
options.debugger_address = urlsplit(os.environ["ARENA_CDP_URL"]).netloc
driver = webdriver.Chrome(options=options)
body = driver.find_element(By.TAG_NAME, "body")
body.send_keys("belfries")  # one step of the episode, however many keys
driver.find_element(By.LINK_TEXT, "Bruges").click()
bells = re.findall(r"(\d+) bells", driver.find_element(By.TAG_NAME, "body").text)
driver.quit()
sys.stdout.write(json.dumps({"answer": bells[0] if bells else None}) + "\n")
