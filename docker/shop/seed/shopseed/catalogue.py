"""Writes departments, categories, products, prices, stock and attributes."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from django.db import connection
from django.utils.text import slugify
from oscar.core.loading import get_model

from shopseed import plan
from shopseed.clock import NOW, moment
from shopseed.opinions import describe
from shopseed.pictures import caption, picture_name
from shopseed.plan import Plan
from shopseed.vocabulary import Department

Category = get_model("catalogue", "Category")
Product = get_model("catalogue", "Product")
ProductAttribute = get_model("catalogue", "ProductAttribute")
ProductAttributeValue = get_model("catalogue", "ProductAttributeValue")
ProductCategory = get_model("catalogue", "ProductCategory")
ProductClass = get_model("catalogue", "ProductClass")
ProductImage = get_model("catalogue", "ProductImage")
Partner = get_model("partner", "Partner")
StockRecord = get_model("partner", "StockRecord")

BATCH = 1000
OPENED = datetime(2023, 3, 1, 8, 0, tzinfo=NOW.tzinfo)
ATTRIBUTES = ("Brand", "Model", "Size", "Finish", "Material", "Weight", "Made in")
WAREHOUSES = ("Bristol Warehouse", "Leeds Warehouse", "Rotterdam Warehouse")


def write_categories(departments: list[Department]) -> dict[str, int]:
    """Create the two levels of categories; return the id of each leaf by its name."""
    ids = {}
    for department in departments:
        root = Category.add_root(
            name=department.name, slug=slugify(department.name), description=department.summary
        )
        for words in department.categories:
            leaf = root.add_child(name=words.name, slug=slugify(words.name), description="")
            ids[words.name] = leaf.pk
    Category.objects.update(ancestors_are_public=True, is_public=True)
    return ids


def write_types(departments: list[Department]) -> dict[str, ProductClass]:
    """Create a product type with its attributes for each department; return it by leaf name."""
    types = {}
    for department in departments:
        product_class = ProductClass.objects.create(
            name=department.name, slug=slugify(department.name), requires_shipping=True
        )
        for name in ATTRIBUTES:
            ProductAttribute.objects.create(
                product_class=product_class,
                name=name,
                code=slugify(name).replace("-", "_"),
                type=ProductAttribute.TEXT,
            )
        types.update({words.name: product_class for words in department.categories})
    return types


def _row(item: Plan, product_class: ProductClass, created: datetime) -> Product:
    structure = Product.STANDALONE
    if item.children:
        structure = Product.PARENT
    elif item.parent:
        structure = Product.CHILD
    return Product(
        id=item.id,
        structure=structure,
        upc=None if item.children else f"HP{item.id:06d}",
        parent_id=item.parent.id if item.parent else None,
        title=item.title,
        slug=slugify(item.title),
        description=describe(item),
        meta_title="",
        product_class=None if item.parent else product_class,
        date_created=created,
        date_updated=created,
        is_discountable=True,
    )


def _values(item: Plan, attributes: dict[str, int]) -> list[ProductAttributeValue]:
    values = {
        "Brand": item.model.brand,
        "Model": item.model.name,
        "Size": item.size,
        "Finish": item.finish,
        "Material": item.model.material,
        "Weight": item.weight,
        "Made in": item.model.place,
    }
    if item.parent:
        values = {name: values[name] for name in ("Size", "Finish", "Weight")}
    return [
        ProductAttributeValue(product_id=item.id, attribute_id=attributes[name], value_text=value)
        for name, value in values.items()
        if value
    ]


def _stock(item: Plan, partners: list[Partner], rng: Random, created: datetime) -> StockRecord:
    chance = rng.random()
    number = 0 if chance < 0.03 else rng.randint(1, 4) if chance < 0.08 else rng.randint(5, 180)
    return StockRecord(
        product_id=item.id,
        partner=partners[len(item.words.name) % len(partners)],
        partner_sku=f"HP-{item.id:05d}",
        price_currency="GBP",
        price=item.price,
        num_in_stock=number,
        num_allocated=0,
        low_stock_threshold=5,
        date_created=created,
        date_updated=created,
    )


def write_products(departments: list[Department], merchant: object) -> list[Plan]:
    """Write all products; return the plans, parents before their variants."""
    leaf_ids = write_categories(departments)
    types = write_types(departments)
    attributes = {
        (row.product_class_id, row.name): row.pk for row in ProductAttribute.objects.all()
    }
    partners = [Partner.objects.create(code=slugify(name), name=name) for name in WAREHOUSES]
    for partner in partners:
        partner.users.add(merchant)
    rng = Random("stock")
    rows, links, values, stock, images, items = [], [], [], [], [], []
    for top in plan.catalogue(departments):
        product_class = types[top.words.name]
        created = moment(rng, OPENED, NOW - timedelta(days=2))
        names = {name: attributes[product_class.pk, name] for name in ATTRIBUTES}
        links.append(ProductCategory(product_id=top.id, category_id=leaf_ids[top.words.name]))
        for item in (top, *top.children):
            items.append(item)
            rows.append(_row(item, product_class, created))
            values += _values(item, names)
            images.append(
                ProductImage(
                    product_id=item.id,
                    original=f"products/{picture_name(item)}",
                    caption=caption(item),
                    display_order=0,
                    date_created=created,
                )
            )
            if item.price is not None:
                stock.append(_stock(item, partners, rng, created))
    for model, batch in (
        (Product, rows),
        (ProductCategory, links),
        (ProductAttributeValue, values),
        (StockRecord, stock),
        (ProductImage, images),
    ):
        model.objects.bulk_create(batch, batch_size=BATCH)
    return items


def index_text() -> None:
    """Make the FULLTEXT indexes that the search application reads."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE catalogue_product ADD FULLTEXT shop_title (title)")
        cursor.execute("ALTER TABLE catalogue_product ADD FULLTEXT shop_text (title, description)")
