-- What Prisma's schema language cannot say.

-- The audit trail is append-only, for everybody.
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit trail is append-only: % refused', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit_event FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_event FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- Decisions are never changed; they go only with their benchmark.
CREATE FUNCTION decision_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a decision is never changed: undo it with another one' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER decision_no_change BEFORE UPDATE ON decision FOR EACH ROW EXECUTE FUNCTION decision_is_final();

-- An agent can author versions but not decide.
CREATE FUNCTION decider_is_a_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT role FROM app_user WHERE id = NEW.user_id) IN ('agent', 'consumer') THEN
    RAISE EXCEPTION 'only reviewers, leads and admins decide' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER decision_by_person BEFORE INSERT ON decision FOR EACH ROW EXECUTE FUNCTION decider_is_a_person();

-- On a database one stage runs at a time, and a stage waits once.
CREATE UNIQUE INDEX stage_run_one_running ON stage_run (database_id) WHERE state = 'running';
CREATE UNIQUE INDEX stage_run_one_queued ON stage_run (database_id, stage) WHERE state = 'queued';

CREATE INDEX outbox_pending ON outbox (id) WHERE handled_at IS NULL;

ALTER TABLE effort_span ADD CONSTRAINT effort_span_forward CHECK (ended_at > started_at);

-- The one predicate (DESIGN §3): a decision counts while the artefact's content and inputs are those that it was
-- made on. `catching_up`: an input has a newer version than the one from which the artefact was last produced, so
-- that the agents have yet to say whether anything changed.
CREATE VIEW task_state AS
SELECT
  task.id,
  task.benchmark_id,
  task.database_id,
  task.artefact_id,
  task.gate,
  task.position,
  task.decision_id,
  decision.verdict,
  artefact.current_id,
  up.catching_up,
  CASE
    WHEN task.closed_at IS NOT NULL OR artefact.retired_at IS NOT NULL THEN 'closed'
    WHEN decision.awaits
      AND artefact.produced_at <= decision.created_at
      AND version.content_hash = decision.content_hash THEN 'waiting'
    WHEN up.catching_up THEN 'waiting'
    WHEN decision.id IS NULL OR NOT decision.settles THEN 'open'
    WHEN version.content_hash = decision.content_hash AND version.inputs_hash = decision.inputs_hash THEN 'done'
    ELSE 'stale'
  END AS state
FROM task
JOIN artefact ON artefact.id = task.artefact_id
JOIN artefact_version version ON version.id = artefact.current_id
LEFT JOIN decision ON decision.id = task.decision_id
CROSS JOIN LATERAL (
  SELECT EXISTS (
    SELECT 1
    FROM artefact_input input
    JOIN artefact source ON source.id = input.source_id
    JOIN artefact_version source_version ON source_version.id = source.current_id
    WHERE input.version_id = artefact.current_id AND source_version.content_hash <> input.source_hash
  ) AS catching_up
) up;
