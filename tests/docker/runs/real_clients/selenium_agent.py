"""An agent whose hands are Selenium, unchanged from PyPI: its word is the path of chromedriver.

It runs in an environment of its own, whose only package of use is selenium.
"""

from __future__ import annotations

import json
import os
import re
import sys
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

options = webdriver.ChromeOptions()
options.debugger_address = urlsplit(os.environ["ARENA_CDP_URL"]).netloc
driver = webdriver.Chrome(options=options, service=Service(sys.argv[1]))
driver.find_element(By.TAG_NAME, "body").send_keys("belfries")
driver.find_element(By.LINK_TEXT, "Bruges").click()
found = re.search(r"(\d+) bells", driver.find_element(By.TAG_NAME, "body").text)
assert found is not None, driver.page_source
driver.quit()
sys.stdout.write(json.dumps({"answer": found[1]}) + "\n")
