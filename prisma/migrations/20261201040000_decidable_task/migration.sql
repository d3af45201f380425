-- Locks a task for a decision, then reads what the decision rests on: each statement of a volatile function sees what was
-- committed before it, so that nothing of it is older than the locks. One question instead of two.
CREATE FUNCTION decidable_task(wanted uuid, made_by_key uuid, changes_versions boolean)
RETURNS TABLE (
  id uuid, benchmark_id uuid, database_id uuid, artefact_id uuid, gate text, decision_id uuid,
  kind text, key text, current_id uuid, content_hash text, inputs_hash text, state text,
  holder_id uuid, holder text, decider_id uuid, decider text, verdict text, made_before boolean
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM lock_task(wanted, changes_versions);
  RETURN QUERY
    SELECT task.id, task.benchmark_id, task.database_id, task.artefact_id, task.gate, task.decision_id,
      artefact.kind, artefact.key, artefact.current_id, version.content_hash, version.inputs_hash, derived.state,
      holding.id, holding.name, deciding.id, deciding.name, decision.verdict,
      EXISTS (SELECT 1 FROM decision made WHERE made.idempotency_key = made_by_key)
    FROM task
    JOIN artefact ON artefact.id = task.artefact_id
    JOIN artefact_version version ON version.id = artefact.current_id
    JOIN task_state derived ON derived.id = task.id
    LEFT JOIN lease ON lease.task_id = task.id AND lease.expires_at > clock_timestamp()
    LEFT JOIN app_user holding ON holding.id = lease.user_id
    LEFT JOIN decision ON decision.id = task.decision_id
    LEFT JOIN app_user deciding ON deciding.id = decision.user_id
    WHERE task.id = wanted;
END $$;

-- Planning this for the very tasks given takes several times as long as doing it for one, and the plan is always the same:
-- each task by its key.
ALTER FUNCTION refresh_task_states(uuid[]) SET plan_cache_mode = force_generic_plan;
