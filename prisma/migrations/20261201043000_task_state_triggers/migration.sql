-- What changed of many rows is found by a difference of sets, which is hashed. A join of the rows before and after was
-- planned once, for one row, as a nested loop: closing 10,000 tasks compared each with each and took over a minute.
CREATE OR REPLACE FUNCTION task_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refresh_task_states(ARRAY(
    SELECT changed.id FROM (
      SELECT id, closed_at, decision_id, artefact_id FROM after
      EXCEPT SELECT id, closed_at, decision_id, artefact_id FROM before
    ) changed));
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION task_artefact_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refresh_task_states(ARRAY(
    SELECT task.id FROM (
      SELECT id, current_id, retired_at, produced_at FROM after
      EXCEPT SELECT id, current_id, retired_at, produced_at FROM before
    ) changed JOIN task ON task.artefact_id = changed.id
    UNION
    SELECT task.id FROM (SELECT id, current_id FROM after EXCEPT SELECT id, current_id FROM before) replaced
    JOIN artefact_input input ON input.source_id = replaced.id
    JOIN artefact dependent ON dependent.current_id = input.version_id
    JOIN task ON task.artefact_id = dependent.id));
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION task_version_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refresh_task_states(ARRAY(
    SELECT task.id FROM (
      SELECT id, inputs_hash, content_hash FROM after EXCEPT SELECT id, inputs_hash, content_hash FROM before
    ) changed
    JOIN artefact ON artefact.current_id = changed.id JOIN task ON task.artefact_id = artefact.id));
  RETURN NULL;
END $$;

-- Their plans are made once for a connection, perhaps while the tables are empty, and serve when they are large: by index.
ALTER FUNCTION refresh_task_states(uuid[]) SET enable_seqscan = off;
ALTER FUNCTION task_artefact_changed() SET enable_seqscan = off;
ALTER FUNCTION task_version_changed() SET enable_seqscan = off;
ALTER FUNCTION task_inputs_changed() SET enable_seqscan = off;

-- Deleting a version or a task looks for what refers to it: without these in the whole table, for each row.
CREATE INDEX "decision_version_id_idx" ON "decision"("version_id");
CREATE INDEX "seen_artefact_id_idx" ON "seen"("artefact_id");
CREATE INDEX "seen_version_id_idx" ON "seen"("version_id");
CREATE INDEX "comment_artefact_id_idx" ON "comment"("artefact_id");
CREATE INDEX "comment_version_id_idx" ON "comment"("version_id");
CREATE INDEX "draft_text_task_id_idx" ON "draft_text"("task_id");
