// The map beside the page's text: shows what the page is about, keeps #map=ZOOM/LAT/LON, and has OpenStreetMap's controls.
"use strict";
// Once the text is there: tiles must not hold up the page.
addEventListener("load", () => {
  const shape = JSON.parse(document.getElementById("shape").textContent);
  const region = [[50.785, -4.7], [50.905, -4.44]];
  const map = L.map("map", { zoomControl: false, minZoom: 10, maxZoom: 19, maxBounds: [[50.5, -5.2], [51.2, -4.0]] });
  L.tileLayer("/tiles/{z}/{x}/{y}.png", {
    maxNativeZoom: 17, maxZoom: 19, attribution: '&copy; <a href="/">Merrow Maps</a>',
  }).addTo(map);
  L.control.scale().addTo(map);
  map.attributionControl.setPrefix(false);
  const icon = L.icon({
    iconUrl: "/static/leaflet/images/marker-icon.png", iconRetinaUrl: "/static/leaflet/images/marker-icon-2x.png",
    shadowUrl: "/static/leaflet/images/marker-shadow.png", iconSize: [25, 41], iconAnchor: [12, 41], shadowSize: [41, 41],
  });
  const pin = (at, title) => L.marker(at, { icon, title, alt: title, keyboard: false });

  function draw() {
    if (!shape) return null;
    const drawn = L.featureGroup().addTo(map);
    for (const [lat, lon, title] of shape.markers || []) pin([lat, lon], title).addTo(drawn);
    for (const line of shape.lines || []) L.polyline(line, { color: "#ff6200", weight: 4, opacity: 0.8 }).addTo(drawn);
    if (shape.line && shape.line.length) L.polyline(shape.line, { color: "#03f", weight: 8, opacity: 0.35 }).addTo(drawn);
    (shape.ends || []).forEach(([lat, lon, title], end) => L.circleMarker([lat, lon], {
      radius: 8, color: "#fff", weight: 2, fillColor: end ? "#d33" : "#3faf3f", fillOpacity: 1,
    }).bindTooltip(title).addTo(drawn));
    return drawn;
  }
  function fromHash() {
    const found = /[#&]map=(\d+)\/(-?[\d.]+)\/(-?[\d.]+)/.exec(location.hash);
    return found && { zoom: +found[1], at: [+found[2], +found[3]] };
  }
  function fromCookie() {
    const found = /(?:^|; )_osm_location=([^;]+)/.exec(document.cookie);
    const [lon, lat, zoom] = found ? decodeURIComponent(found[1]).split("|").map(Number) : [];
    return lon && lat && zoom ? { zoom, at: [lat, lon] } : null;
  }
  function place() {
    const { lat, lng } = map.getCenter();
    return { lat: lat.toFixed(5), lon: lng.toFixed(5), zoom: map.getZoom() };
  }
  const drawn = draw();
  function look() {
    const told = fromHash();
    if (told) map.setView(told.at, told.zoom, { animate: false });
    else if (drawn && drawn.getLayers().length) map.fitBounds(drawn.getBounds(), { maxZoom: shape.zoom || 18, padding: [30, 30], animate: false });
    else {
      const last = fromCookie();
      if (last) map.setView(last.at, last.zoom, { animate: false });
      else map.fitBounds(region, { animate: false });
    }
  }
  function remember() {
    const { lat, lon, zoom } = place();
    const hash = `#map=${zoom}/${lat}/${lon}`;
    if (location.hash !== hash) history.replaceState(history.state, "", hash);
    document.cookie = `_osm_location=${lon}|${lat}|${zoom}|M; path=/; samesite=lax`;
    const where = document.getElementById("where");
    if (where) where.href = `/search?lat=${lat}&lon=${lon}&zoom=${zoom}`;
    fillShare();
  }

  // Panels at the right: layers, key, share.
  const panel = document.getElementById("panel");
  const panels = {
    layers: () => `<h2>Layers</h2><label><input type="radio" name="layer" value="" checked> Standard</label>
      <label><input type="radio" name="layer" value="greyscale"> Greyscale</label>`,
    key: () => `<h2>Map Key</h2><ul class="key">${[["#f9b29c", "Trunk road"], ["#fcd6a4", "Primary road"], ["#f7fabf", "Secondary road"],
      ["#fff", "Minor road"], ["#fa8072", "Footpath"], ["#4a64ff", "Cycleway"], ["#707070", "Railway"], ["#ac46ac", "Administrative boundary"],
      ["#aad3df", "Water"], ["#add19e", "Wood"], ["#c8facc", "Park"], ["#ffffe5", "School; hospital"], ["#ebdbe8", "Industrial area"],
      ["#c77400", "Amenity"], ["#ac39ac", "Shop"], ["#0092da", "Tourism"]].map(([colour, name]) => `<li><i style="background:${colour}"></i>${name}</li>`).join("")}</ul>`,
    share: () => `<h2>Share</h2><h3>Link or HTML</h3><label><input type="checkbox" id="marker"> Include marker</label>
      <label for="long">Link</label><input type="text" id="long" readonly><label for="short">Short Link</label><input type="text" id="short" readonly>
      <label for="html">HTML</label><input type="text" id="html" readonly><label for="geo">Geo URI</label><input type="text" id="geo" readonly>`,
  };
  function toggle(name, button) {
    const opening = panel.dataset.open !== name;
    document.querySelectorAll(".control button").forEach((one) => one.setAttribute("aria-pressed", "false"));
    panel.dataset.open = opening ? name : "";
    panel.hidden = !opening;
    panel.innerHTML = opening ? panels[name]() : "";
    button.setAttribute("aria-pressed", String(opening));
    map.invalidateSize();
    fillShare();
  }
  function fillShare() {
    if (panel.dataset.open !== "share") return;
    const { lat, lon, zoom } = place();
    const marked = document.getElementById("marker").checked;
    const link = `${location.origin}/${marked ? `?mlat=${lat}&mlon=${lon}` : ""}#map=${zoom}/${lat}/${lon}`;
    document.getElementById("long").value = link;
    document.getElementById("short").value = `${location.origin}/go/${shortCode(+lat, +lon, zoom)}${marked ? "?m" : ""}`;
    document.getElementById("html").value = `<iframe width="425" height="350" src="${link}"></iframe>`;
    document.getElementById("geo").value = `geo:${lat},${lon}?z=${zoom}`;
  }
  let dropped = null;
  panel.addEventListener("change", (event) => {
    if (event.target.name === "layer") document.body.classList.toggle("greyscale", event.target.value === "greyscale");
    if (event.target.id === "marker") {
      if (dropped) dropped.remove();
      dropped = event.target.checked ? pin(map.getCenter(), "Marker").addTo(map) : null;
      fillShare();
    }
  });
  panel.addEventListener("focusin", (event) => event.target.readOnly && event.target.select());

  // Drawn: not every machine has a font with signs like these.
  const drawing = (path) => `<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><path d="${path}" fill="none" stroke="currentColor" stroke-width="1.6"/></svg>`;
  const Buttons = L.Control.extend({
    options: { position: "topright" },
    initialize(buttons) { this._buttons = buttons; },
    onAdd() {
      const box = L.DomUtil.create("div", "control");
      for (const [sign, title, press] of this._buttons) {
        const button = L.DomUtil.create("button", "", box);
        Object.assign(button, { type: "button", innerHTML: sign, title });
        button.setAttribute("aria-label", title);
        button.addEventListener("click", () => press(button));
      }
      L.DomEvent.disableClickPropagation(box);
      return box;
    },
  });
  map.addControl(new Buttons([["+", "Zoom In", () => map.zoomIn()], ["\u2212", "Zoom Out", () => map.zoomOut()]]));
  map.addControl(new Buttons([
    [drawing("M2 6l7-4 7 4-7 4zM2 9.5l7 4 7-4M2 13l7 4 7-4"), "Layers", (button) => toggle("layers", button)], ["i", "Map Key", (button) => toggle("key", button)],
    [drawing("M7 3H3v12h12v-4M10 2h6v6M16 2l-8 8"), "Share", (button) => toggle("share", button)],
  ]));
  map.addControl(new Buttons([["?", "Query features", (button) => {
    button.setAttribute("aria-pressed", String(document.body.classList.toggle("asking")));
  }]]));

  // Clicks: what is here, and the menu of the right button.
  let menu = null;
  const close = () => { if (menu) menu.remove(); menu = null; };
  map.on("click movestart", close);
  map.on("click", ({ latlng }) => {
    if (document.body.classList.contains("asking")) location.assign(`/query?lat=${latlng.lat.toFixed(5)}&lon=${latlng.lng.toFixed(5)}`);
  });
  map.on("contextmenu", ({ latlng, containerPoint }) => {
    close();
    const at = `${latlng.lat.toFixed(5)},${latlng.lng.toFixed(5)}`, value = (id) => encodeURIComponent((document.getElementById(id) || {}).value || "");
    menu = L.DomUtil.create("div", "menu", map.getContainer());
    menu.style.left = `${containerPoint.x}px`;
    menu.style.top = `${containerPoint.y}px`;
    for (const [words, href] of [
      ["Directions from here", `/directions?from=${at}&to=${value("route_to")}`], ["Directions to here", `/directions?from=${value("route_from")}&to=${at}`],
      ["Show address", `/search?lat=${at.replace(",", "&lon=")}&zoom=18`], ["Query features", `/query?lat=${at.replace(",", "&lon=")}`],
    ]) Object.assign(menu.appendChild(document.createElement("a")), { href, textContent: words });
    L.DomEvent.disableClickPropagation(menu);
  });

  // What the list names is shown on the map.
  let spot = null;
  for (const item of document.querySelectorAll("[data-lat]")) {
    const at = [+item.dataset.lat, +item.dataset.lon];
    item.addEventListener("mouseenter", () => { spot = L.circleMarker(at, { radius: 10, color: "#ff6200" }).addTo(map); });
    item.addEventListener("mouseleave", () => spot && spot.remove());
    if (item.tagName === "LI") item.addEventListener("click", () => map.setView(at, 17));
  }
  const form = document.querySelector("form.directions");
  if (form) {
    const [from, to] = [document.getElementById("route_from"), document.getElementById("route_to")];
    const ends = shape && shape.ends;
    const unchanged = [from.value, to.value].join("\n");
    const go = (swap) => {
      if (!from.value.trim() || !to.value.trim()) return false;
      const pairs = ends && [from.value, to.value].join("\n") === unchanged ? ends.map(([lat, lon]) => `${lat},${lon}`) : null;
      if (pairs) location.assign(`/directions?engine=${form.engine.value}&route=${(swap ? pairs.reverse() : pairs).join(";")}`);
      else { if (swap) [from.value, to.value] = [to.value, from.value]; form.submit(); }
      return true;
    };
    form.addEventListener("submit", (event) => { if (go(false)) event.preventDefault(); });
    form.engine.addEventListener("change", () => go(false));
    document.getElementById("reverse").addEventListener("click", () => { if (!go(true)) [from.value, to.value] = [to.value, from.value]; });
  }
  look();
  map.on("moveend", remember);
  window.addEventListener("hashchange", look);
  remember();
});
