"""Writes everything, in the order in which one needs the other."""

from __future__ import annotations

import os

from proteus import config
from trytond.pool import Pool

from erpseed import firm, goods, hours, settling, trade

DATABASE = "erp"
FILE = f"/srv/erp/state/db/{DATABASE}.sqlite"


def main() -> None:
    config.set_trytond(f"sqlite:///{DATABASE}", config_file=os.environ["TRYTOND_CONFIG"])
    models = Pool(DATABASE)
    # Posting an invoice draws its document, whose bytes differ each time: drawn when asked for.
    models.get("account.invoice").print_invoice = lambda _: None
    models.get("res.user.warning").check = lambda _: False  # nobody is there to be warned
    firm.write_countries()
    firm.write_firm()
    employees = firm.write_people()
    parties = goods.write_parties()
    products = goods.write_products(parties)
    trade.write_purchases(parties, products)
    trade.write_sales(parties, products)
    goods.count_stock(products)
    hours.write_hours(employees)
    settling.settle(FILE)


if __name__ == "__main__":
    main()
