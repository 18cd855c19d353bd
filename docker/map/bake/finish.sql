-- What a frozen database of one country never reads.
DELETE FROM country_osm_grid WHERE country_code <> 'gb';
DELETE FROM spatial_ref_sys WHERE srid NOT IN (4326, 3857, 900913);
DROP TABLE IF EXISTS import_polygon_error, import_polygon_delete, gb_postcode, us_postcode;
-- When the import ran is no content.
DELETE FROM import_status;
INSERT INTO import_status (lastimportdate, indexed) VALUES ('2026-10-01 09:00:00+00', true);
UPDATE placex SET indexed_date = '2026-10-01 09:00:00' WHERE indexed_date IS NOT NULL;

-- Every object with its own tags, as OpenStreetMap's pages show them: what checks ask for.
CREATE SCHEMA osm;
CREATE TABLE osm.object (
    kind text NOT NULL CHECK (kind IN ('node', 'way', 'relation')),
    id bigint NOT NULL,
    tags jsonb NOT NULL,
    members jsonb,                -- a way's nodes, a relation's [kind, id, role]
    lon double precision NOT NULL,
    lat double precision NOT NULL,
    name text GENERATED ALWAYS AS (tags ->> 'name') STORED
);
