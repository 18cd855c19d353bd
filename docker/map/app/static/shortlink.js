// OpenStreetMap's short codes for a place and a zoom; the server reads them (shortlink.py).
"use strict";
function shortCode(lat, lng, zoom) {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~";
  const x = BigInt(Math.floor((lng + 180) * 2 ** 32 / 360)), y = BigInt(Math.floor((lat + 90) * 2 ** 32 / 180));
  let code = 0n;
  for (let bit = 31n; bit >= 0n; bit--) code = (code << 2n) | (((x >> bit) & 1n) << 1n) | ((y >> bit) & 1n);
  let text = "";
  for (let i = 0; i < Math.min(Math.ceil((zoom + 8) / 3), 10); i++) text += alphabet[Number((code >> BigInt(58 - 6 * i)) & 63n)];
  return text + "-".repeat((zoom + 8) % 3);
}
