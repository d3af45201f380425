-- A task's derived state, beside the task and indexed, so that a claim and a count cost the same at any size. The view
-- `task_state` stays its only definition. These triggers write what the view says, in the transaction that changes
-- anything the view reads, whoever changes it: the column is a cache that cannot be forgotten. Whoever changes what a
-- state is derived from holds the row of the source database, so that no two transactions derive one state at once.
ALTER TABLE "task" ADD COLUMN "state" TEXT NOT NULL DEFAULT 'open';

-- The order of the gates in the queue, as in `gateNames`.
CREATE FUNCTION gate_rank(gate text) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_position(ARRAY['conceptual_design', 'collection_validation', 'cross_validation', 'table_validation',
    'untranslated', 'optimised_query', 'evidence'], gate)
$$;

-- Returns how many states were not what the view says.
CREATE FUNCTION refresh_task_states(tasks uuid[]) RETURNS int LANGUAGE plpgsql AS $$
DECLARE corrected int;
BEGIN
  IF coalesce(cardinality(tasks), 0) = 0 THEN
    RETURN 0;
  END IF;
  UPDATE task SET state = derived.state
  FROM (
    SELECT wanted.id, coalesce(task_state.state, 'closed') AS state
    FROM unnest(tasks) AS wanted(id) LEFT JOIN task_state ON task_state.id = wanted.id
  ) derived
  WHERE task.id = derived.id AND task.state <> derived.state;
  GET DIAGNOSTICS corrected = ROW_COUNT;
  RETURN corrected;
END $$;

CREATE FUNCTION rebuild_task_states(of_database uuid) RETURNS int LANGUAGE sql AS $$
  SELECT refresh_task_states(ARRAY(SELECT id FROM task WHERE database_id = of_database))
$$;

CREATE FUNCTION task_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refresh_task_states(ARRAY(SELECT id FROM added));
  RETURN NULL;
END $$;
CREATE TRIGGER task_state_added AFTER INSERT ON task
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION task_added();

CREATE FUNCTION task_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refresh_task_states(ARRAY(
    SELECT after.id FROM after JOIN before ON before.id = after.id
    WHERE (before.closed_at, before.decision_id, before.artefact_id)
      IS DISTINCT FROM (after.closed_at, after.decision_id, after.artefact_id)));
  RETURN NULL;
END $$;
CREATE TRIGGER task_state_changed AFTER UPDATE ON task
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION task_changed();

-- An artefact's own tasks, and where its current version is another one, those of what was made from it.
CREATE FUNCTION task_artefact_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refresh_task_states(ARRAY(
    WITH changed AS (
      SELECT after.id, before.current_id IS DISTINCT FROM after.current_id AS replaced
      FROM after JOIN before ON before.id = after.id
      WHERE (before.current_id, before.retired_at, before.produced_at)
        IS DISTINCT FROM (after.current_id, after.retired_at, after.produced_at)
    )
    SELECT task.id FROM changed JOIN task ON task.artefact_id = changed.id
    UNION
    SELECT task.id FROM changed
    JOIN artefact_input input ON input.source_id = changed.id
    JOIN artefact dependent ON dependent.current_id = input.version_id
    JOIN task ON task.artefact_id = dependent.id
    WHERE changed.replaced));
  RETURN NULL;
END $$;
CREATE TRIGGER task_state_artefact AFTER UPDATE ON artefact
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION task_artefact_changed();

CREATE FUNCTION task_version_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refresh_task_states(ARRAY(
    SELECT task.id FROM after JOIN before ON before.id = after.id
    JOIN artefact ON artefact.current_id = after.id JOIN task ON task.artefact_id = artefact.id
    WHERE (before.inputs_hash, before.content_hash) IS DISTINCT FROM (after.inputs_hash, after.content_hash)));
  RETURN NULL;
END $$;
CREATE TRIGGER task_state_version AFTER UPDATE ON artefact_version
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION task_version_changed();

CREATE FUNCTION task_inputs_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refresh_task_states(ARRAY(
    SELECT DISTINCT task.id FROM touched
    JOIN artefact ON artefact.current_id = touched.version_id JOIN task ON task.artefact_id = artefact.id));
  RETURN NULL;
END $$;
CREATE TRIGGER task_state_input_added AFTER INSERT ON artefact_input
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION task_inputs_changed();
CREATE TRIGGER task_state_input_changed AFTER UPDATE ON artefact_input
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION task_inputs_changed();
CREATE TRIGGER task_state_input_removed AFTER DELETE ON artefact_input
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION task_inputs_changed();

SELECT refresh_task_states(ARRAY(SELECT id FROM task));

-- A claim reads the first entries of one of these: what is done, or given to somebody else, is not in them.
CREATE INDEX task_claim ON task (gate_rank(gate), position) WHERE state IN ('open', 'stale') AND assignee_id IS NULL;
CREATE INDEX task_claim_benchmark ON task (benchmark_id, gate_rank(gate), position)
  WHERE state IN ('open', 'stale') AND assignee_id IS NULL;
CREATE INDEX task_claim_database ON task (database_id, gate_rank(gate), position)
  WHERE state IN ('open', 'stale') AND assignee_id IS NULL;
CREATE INDEX task_claim_assigned ON task (assignee_id, gate_rank(gate), position)
  WHERE state IN ('open', 'stale') AND assignee_id IS NOT NULL;
CREATE INDEX task_unfinished ON task (database_id) WHERE state IN ('open', 'stale', 'waiting');

-- What is to be audited waits here until its transaction commits: only then is the lock taken that keeps a chain in one
-- order, and nothing but the commit itself is done while it is held. A row never outlives its transaction.
CREATE TABLE "audit_pending" (
    "id" BIGSERIAL NOT NULL,
    "chain" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "detail" BYTEA NOT NULL,

    CONSTRAINT "audit_pending_pkey" PRIMARY KEY ("id")
);

-- Appends to the chain. The hash is that of `eventHash` in lib/db/audit.ts, which verifies it.
CREATE FUNCTION audit_append() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last audit_event;
  next_seq int;
  happened timestamptz;
  hashed text;
BEGIN
  DELETE FROM audit_pending WHERE id = NEW.id;
  PERFORM pg_advisory_xact_lock(hashtextextended('audit:' || NEW.chain, 0));
  SELECT * INTO last FROM audit_event WHERE chain = NEW.chain ORDER BY seq DESC LIMIT 1;
  next_seq := coalesce(last.seq, 0) + 1;
  happened := date_trunc('milliseconds', clock_timestamp());
  hashed := 'aptmql-audit:1' || chr(10) || '[' || concat_ws(',', to_json(NEW.chain), next_seq,
    to_json(to_char(happened AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), to_json(NEW.actor), to_json(NEW.action),
    to_json(NEW.subject), to_json(convert_from(NEW.detail, 'UTF8')), to_json(coalesce(last.hash, ''))) || ']';
  INSERT INTO audit_event (chain, seq, at, actor, action, subject, detail, previous, hash)
  VALUES (NEW.chain, next_seq, happened, NEW.actor, NEW.action, NEW.subject, NEW.detail, coalesce(last.hash, ''),
    encode(sha256(convert_to(hashed, 'UTF8')), 'hex'));
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER audit_append_at_commit AFTER INSERT ON audit_pending
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit_append();

-- The locks of a decision, in the order that all take them: the database's versions, then the task. Whoever decides
-- without changing a version shares the first.
CREATE FUNCTION lock_task(wanted uuid, changes_versions boolean) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE place uuid;
BEGIN
  SELECT database_id INTO place FROM task WHERE id = wanted;
  IF changes_versions THEN
    PERFORM 1 FROM source_database WHERE id = place FOR UPDATE;
  ELSE
    PERFORM 1 FROM source_database WHERE id = place FOR SHARE;
  END IF;
  PERFORM 1 FROM task WHERE id = wanted FOR NO KEY UPDATE;
  RETURN place;
END $$;
