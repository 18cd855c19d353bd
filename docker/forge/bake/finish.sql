-- From now on "fixes #12" in a pushed commit closes the issue; while the baked history was read it only linked it.
UPDATE settings SET value = 'refs,references,see' WHERE name = 'commit_ref_keywords';
INSERT INTO settings (name, value, updated_on) VALUES ('commit_update_keywords',
    '---\n- keywords: fixes,closes\n  if_tracker_id: \'\'\n  status_id: \'5\'\n  done_ratio: \'100\'\n', '2023-03-06 08:00:00');
-- Redmine forgets the settings that it has read at each request where one is as new as its clock, which stands still.
UPDATE settings SET updated_on = '2023-03-06 08:00:00';
