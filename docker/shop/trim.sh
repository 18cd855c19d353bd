#!/bin/sh
# Removes from a folder of Python packages what a running shop never reads (tests, translations, phone geography),
# and mends a few of Oscar's own files.
set -eu
cd "$1"
rm -rf bin oscar/test phonenumbers/geodata phonenumbers/carrierdata phonenumbers/tzdata
find . -type d \( -name tests -o -name test_utils \) -prune -exec rm -rf {} +
find . -type d -name locale | while read -r folder; do
    find "$folder" -mindepth 1 -maxdepth 1 -type d ! -name 'en*' -exec rm -rf {} +
done
find babel/locale-data -type f ! -name 'en*.dat' ! -name 'root.dat' -delete
find . \( -name '*.po' -o -name '*.scss' -o -name '*.pyi' -o -name '*.pyx' \) -delete
rm -rf django/contrib/gis oscar/static/oscar/js/tinymce/langs oscar/static/oscar/scss
# Oscar 4.2 calls a function on the order page that its script no longer has; the call stops the rest of the script.
sed -i '/oscar.dashboard.orders.initTable/d' oscar/templates/oscar/dashboard/orders/order_detail.html
# The dashboard's choices stay native: the widget laid over them hides the choice's name from assistive technology.
sed -i "/selects.not('.related-widget-wrapper select').select2(/d" oscar/static/oscar/js/oscar/dashboard.js
# Dates are typed as they are read: the mask made other dates of what was typed, and the calendar of what it could not read.
mend() { sed "$2" "$1" >/tmp/mended && ! cmp -s "$1" /tmp/mended && cat /tmp/mended >"$1" && rm /tmp/mended; }
mend oscar/forms/widgets.py '/attrs\["data-inputmask"\]/,/^        )$/c\        attrs["placeholder"] = datetime_format_to_js_input_mask(self.get_format())'
picker="useStrict: true, keepInvalid: true, extraFormats: ['YYYY-MM-DD', 'YYYY-MM-DD HH:mm', 'YYYY-MM-DDTHH:mm'],"
for script in dashboard ui; do
    mend oscar/static/oscar/js/oscar/$script.js "s/'datetimePickerConfig': {/& $picker/"
done
# The boxes of a list's refinements have names for assistive technology.
mend oscar/templates/oscar/search/partials/facet.html 's/type="checkbox"/& aria-label="{{ item.name }}"/'
# Buttons that show an arrow alone, and the numbers in a wish list, have names too.
for page in checkout/shipping_address customer/address/address_list customer/wishlists/wishlists_list customer/wishlists/wishlists_detail; do
    mend oscar/templates/oscar/$page.html 's/dropdown-toggle" data-toggle="dropdown"><.button>/dropdown-toggle" data-toggle="dropdown" aria-label="More actions"><\/button>/'
done
mend oscar/templates/oscar/customer/wishlists/wishlists_detail.html 's/render_field field class+="form-control"/& aria-label=field.label/'
# A picture's text is what it shows: the kind and the colour.
mend oscar/templates/oscar/catalogue/partials/gallery.html 's/alt="{{ product.get_title }}"/alt="{{ image.caption|default:product.get_title }}"/'
# The shop has its own row of related products on a product's page.
sed -i '/with recommended_products=product.sorted_recommended_products/,/endwith/d' oscar/templates/oscar/catalogue/detail.html
# Sentences that Oscar leaves to each shop.
invoice='Invoice with the parcel, payable within 30 days.'
sed -i "s/Payment details to go here/$invoice/" oscar/templates/oscar/checkout/checkout.html
sed -i "s/No payment was required for this order\\./$invoice/" oscar/templates/oscar/checkout/thank_you.html
