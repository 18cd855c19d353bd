ALTER TABLE osm.object ADD PRIMARY KEY (kind, id);
CREATE INDEX object_name ON osm.object (name) WHERE name IS NOT NULL;
CREATE INDEX object_place ON osm.object (lat, lon) WHERE tags <> '{}';
GRANT USAGE ON SCHEMA osm TO arena_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA osm, public TO arena_reader;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
REVOKE ALL ON DATABASE map FROM PUBLIC;
GRANT CONNECT ON DATABASE map TO arena_reader;
ALTER ROLE arena_reader SET default_transaction_read_only = on;
