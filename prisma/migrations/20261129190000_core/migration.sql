-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "Role" AS ENUM ('admin', 'lead', 'reviewer', 'consumer', 'agent');

-- CreateEnum
CREATE TYPE "work_state" AS ENUM ('queued', 'running', 'done', 'failed', 'cancelled');

-- CreateTable
CREATE TABLE "app_user" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "role" "Role" NOT NULL,
    "password_hash" TEXT,
    "disabled_at" TIMESTAMPTZ,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "app_user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session" (
    "token_hash" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ NOT NULL,
    "revoked_at" TIMESTAMPTZ,

    CONSTRAINT "session_pkey" PRIMARY KEY ("token_hash")
);

-- CreateTable
CREATE TABLE "api_token" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ NOT NULL,
    "last_used_at" TIMESTAMPTZ,
    "revoked_at" TIMESTAMPTZ,

    CONSTRAINT "api_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "failed_sign_in" (
    "id" BIGSERIAL NOT NULL,
    "key" TEXT NOT NULL,
    "at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "failed_sign_in_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "blob" (
    "hash" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "blob_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "blob_chunk" (
    "hash" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "data" BYTEA NOT NULL,

    CONSTRAINT "blob_chunk_pkey" PRIMARY KEY ("hash","seq")
);

-- CreateTable
CREATE TABLE "benchmark" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "agent" TEXT NOT NULL DEFAULT 'builtin',
    "mongo_prefix" TEXT NOT NULL,
    "settings" BYTEA NOT NULL,
    "question_files" BYTEA NOT NULL,
    "problems" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "benchmark_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "source_database" (
    "id" UUID NOT NULL,
    "benchmark_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "blob_hash" TEXT NOT NULL,
    "descriptions" BYTEA NOT NULL,

    CONSTRAINT "source_database_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "item" (
    "id" UUID NOT NULL,
    "benchmark_id" UUID NOT NULL,
    "database_id" UUID NOT NULL,
    "question_id" TEXT NOT NULL,
    "split" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "difficulty" TEXT,
    "title" TEXT NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "item_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "artefact" (
    "id" UUID NOT NULL,
    "benchmark_id" UUID NOT NULL,
    "database_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "current_id" UUID,
    "held_edit" BOOLEAN NOT NULL DEFAULT false,
    "stage" TEXT NOT NULL,
    "produced_at" TIMESTAMPTZ NOT NULL,
    "retired_at" TIMESTAMPTZ,

    CONSTRAINT "artefact_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "artefact_version" (
    "id" UUID NOT NULL,
    "artefact_id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "content_hash" TEXT NOT NULL,
    "blob_hash" TEXT NOT NULL,
    "inputs_hash" TEXT NOT NULL,
    "author_user_id" UUID,
    "stage_run_id" UUID,
    "agent_run_id" UUID,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "artefact_version_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "artefact_input" (
    "version_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "part" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "source_id" UUID,
    "source_hash" TEXT,

    CONSTRAINT "artefact_input_pkey" PRIMARY KEY ("version_id","kind","key","part")
);

-- CreateTable
CREATE TABLE "task" (
    "id" UUID NOT NULL,
    "benchmark_id" UUID NOT NULL,
    "database_id" UUID NOT NULL,
    "artefact_id" UUID NOT NULL,
    "gate" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "title" TEXT NOT NULL,
    "assignee_id" UUID,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ,
    "decision_id" UUID,

    CONSTRAINT "task_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "decision" (
    "id" UUID NOT NULL,
    "benchmark_id" UUID NOT NULL,
    "database_id" UUID NOT NULL,
    "task_id" UUID,
    "version_id" UUID,
    "content_hash" TEXT NOT NULL,
    "inputs_hash" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "verdict" TEXT NOT NULL,
    "settles" BOOLEAN NOT NULL,
    "awaits" BOOLEAN NOT NULL,
    "restart_stage" TEXT,
    "restart_only" TEXT[],
    "restart_all" BOOLEAN NOT NULL DEFAULT false,
    "edited_id" UUID,
    "reason_code" TEXT,
    "note" TEXT,
    "idempotency_key" UUID NOT NULL,
    "undoes_id" UUID,
    "replaced_id" UUID,
    "previous_id" UUID,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "decision_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "decision_input" (
    "decision_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "part" TEXT NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "decision_input_pkey" PRIMARY KEY ("decision_id","kind","key","part")
);

-- CreateTable
CREATE TABLE "lease" (
    "task_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "acquired_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "heartbeat_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ NOT NULL,

    CONSTRAINT "lease_pkey" PRIMARY KEY ("task_id")
);

-- CreateTable
CREATE TABLE "comment" (
    "id" UUID NOT NULL,
    "task_id" UUID NOT NULL,
    "artefact_id" UUID NOT NULL,
    "version_id" UUID NOT NULL,
    "anchor" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "author_id" UUID NOT NULL,
    "parent_id" UUID,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "resolved_at" TIMESTAMPTZ,
    "resolved_id" UUID,

    CONSTRAINT "comment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "directive" (
    "id" UUID NOT NULL,
    "database_id" UUID NOT NULL,
    "decision_id" UUID NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "content" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "withdrawn_at" TIMESTAMPTZ,
    "cannot_act" TEXT,

    CONSTRAINT "directive_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "seen" (
    "user_id" UUID NOT NULL,
    "artefact_id" UUID NOT NULL,
    "version_id" UUID NOT NULL,
    "at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "seen_pkey" PRIMARY KEY ("user_id","artefact_id")
);

-- CreateTable
CREATE TABLE "draft_text" (
    "user_id" UUID NOT NULL,
    "task_id" UUID NOT NULL,
    "text" BYTEA NOT NULL,
    "updated_at" TIMESTAMPTZ NOT NULL,

    CONSTRAINT "draft_text_pkey" PRIMARY KEY ("user_id","task_id")
);

-- CreateTable
CREATE TABLE "stage_run" (
    "id" UUID NOT NULL,
    "database_id" UUID NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "stage" TEXT NOT NULL,
    "state" "work_state" NOT NULL DEFAULT 'queued',
    "only" TEXT[],
    "everything" BOOLEAN NOT NULL DEFAULT true,
    "carries_change" BOOLEAN NOT NULL DEFAULT false,
    "done" INTEGER NOT NULL DEFAULT 0,
    "total" INTEGER NOT NULL DEFAULT 0,
    "unit" TEXT NOT NULL DEFAULT '',
    "failure" TEXT,
    "deaths" INTEGER NOT NULL DEFAULT 0,
    "job_id" TEXT,
    "worker" TEXT,
    "cancel_asked" BOOLEAN NOT NULL DEFAULT false,
    "queued_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ,
    "ended_at" TIMESTAMPTZ,
    "report" BYTEA,
    "decision_id" UUID,

    CONSTRAINT "stage_run_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_run" (
    "id" UUID NOT NULL,
    "database_id" UUID NOT NULL,
    "stage_run_id" UUID NOT NULL,
    "agent" TEXT NOT NULL,
    "stage" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "state" "work_state" NOT NULL DEFAULT 'running',
    "failure" TEXT,
    "started_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ,
    "input_tokens" INTEGER NOT NULL DEFAULT 0,
    "output_tokens" INTEGER NOT NULL DEFAULT 0,
    "cost_usd" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "retries" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "agent_run_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_step" (
    "run_id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "text" BYTEA NOT NULL,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "cost_usd" DOUBLE PRECISION,
    "at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_step_pkey" PRIMARY KEY ("run_id","seq")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "topic" TEXT NOT NULL,
    "payload" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "handled_at" TIMESTAMPTZ,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "failure" TEXT,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "effort_span" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "task_id" UUID NOT NULL,
    "started_at" TIMESTAMPTZ NOT NULL,
    "ended_at" TIMESTAMPTZ NOT NULL,
    "end" TEXT NOT NULL,

    CONSTRAINT "effort_span_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_event" (
    "chain" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "detail" BYTEA NOT NULL,
    "previous" TEXT NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_event_pkey" PRIMARY KEY ("chain","seq")
);

-- CreateTable
CREATE TABLE "import" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "blob_hash" TEXT,
    "path" TEXT,
    "state" "work_state" NOT NULL DEFAULT 'queued',
    "phase" TEXT NOT NULL DEFAULT 'waiting',
    "done" INTEGER NOT NULL DEFAULT 0,
    "total" INTEGER NOT NULL DEFAULT 0,
    "failure" TEXT,
    "deaths" INTEGER NOT NULL DEFAULT 0,
    "job_id" TEXT,
    "benchmark_id" UUID,
    "user_id" UUID,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ,

    CONSTRAINT "import_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "bundle" (
    "id" UUID NOT NULL,
    "benchmark_id" UUID NOT NULL,
    "draft" BOOLEAN NOT NULL,
    "state" "work_state" NOT NULL DEFAULT 'queued',
    "done" INTEGER NOT NULL DEFAULT 0,
    "total" INTEGER NOT NULL DEFAULT 0,
    "failure" TEXT,
    "deaths" INTEGER NOT NULL DEFAULT 0,
    "job_id" TEXT,
    "blob_hash" TEXT,
    "bytes" BIGINT,
    "file_name" TEXT,
    "user_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ,

    CONSTRAINT "bundle_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "setting" (
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "setting_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE UNIQUE INDEX "app_user_email_key" ON "app_user"("email");

-- CreateIndex
CREATE INDEX "session_user_id_idx" ON "session"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_token_token_hash_key" ON "api_token"("token_hash");

-- CreateIndex
CREATE INDEX "api_token_user_id_idx" ON "api_token"("user_id");

-- CreateIndex
CREATE INDEX "failed_sign_in_key_at_idx" ON "failed_sign_in"("key", "at");

-- CreateIndex
CREATE UNIQUE INDEX "benchmark_name_key" ON "benchmark"("name");

-- CreateIndex
CREATE UNIQUE INDEX "benchmark_mongo_prefix_key" ON "benchmark"("mongo_prefix");

-- CreateIndex
CREATE INDEX "source_database_blob_hash_idx" ON "source_database"("blob_hash");

-- CreateIndex
CREATE UNIQUE INDEX "source_database_benchmark_id_name_key" ON "source_database"("benchmark_id", "name");

-- CreateIndex
CREATE INDEX "item_database_id_position_idx" ON "item"("database_id", "position");

-- CreateIndex
CREATE INDEX "item_benchmark_id_idx" ON "item"("benchmark_id");

-- CreateIndex
CREATE UNIQUE INDEX "item_database_id_question_id_key" ON "item"("database_id", "question_id");

-- CreateIndex
CREATE UNIQUE INDEX "artefact_current_id_key" ON "artefact"("current_id");

-- CreateIndex
CREATE INDEX "artefact_benchmark_id_idx" ON "artefact"("benchmark_id");

-- CreateIndex
CREATE UNIQUE INDEX "artefact_database_id_kind_key_key" ON "artefact"("database_id", "kind", "key");

-- CreateIndex
CREATE INDEX "artefact_version_blob_hash_idx" ON "artefact_version"("blob_hash");

-- CreateIndex
CREATE UNIQUE INDEX "artefact_version_artefact_id_seq_key" ON "artefact_version"("artefact_id", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "artefact_version_artefact_id_content_hash_key" ON "artefact_version"("artefact_id", "content_hash");

-- CreateIndex
CREATE INDEX "artefact_input_source_id_idx" ON "artefact_input"("source_id");

-- CreateIndex
CREATE UNIQUE INDEX "task_decision_id_key" ON "task"("decision_id");

-- CreateIndex
CREATE INDEX "task_database_id_gate_idx" ON "task"("database_id", "gate");

-- CreateIndex
CREATE INDEX "task_benchmark_id_position_idx" ON "task"("benchmark_id", "position");

-- CreateIndex
CREATE INDEX "task_assignee_id_idx" ON "task"("assignee_id");

-- CreateIndex
CREATE UNIQUE INDEX "task_artefact_id_gate_key" ON "task"("artefact_id", "gate");

-- CreateIndex
CREATE UNIQUE INDEX "decision_idempotency_key_key" ON "decision"("idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "decision_undoes_id_key" ON "decision"("undoes_id");

-- CreateIndex
CREATE INDEX "decision_task_id_idx" ON "decision"("task_id");

-- CreateIndex
CREATE INDEX "decision_database_id_created_at_idx" ON "decision"("database_id", "created_at");

-- CreateIndex
CREATE INDEX "decision_user_id_created_at_idx" ON "decision"("user_id", "created_at");

-- CreateIndex
CREATE INDEX "lease_user_id_idx" ON "lease"("user_id");

-- CreateIndex
CREATE INDEX "comment_task_id_idx" ON "comment"("task_id");

-- CreateIndex
CREATE INDEX "directive_database_id_position_idx" ON "directive"("database_id", "position");

-- CreateIndex
CREATE INDEX "directive_decision_id_idx" ON "directive"("decision_id");

-- CreateIndex
CREATE INDEX "stage_run_database_id_stage_position_idx" ON "stage_run"("database_id", "stage", "position");

-- CreateIndex
CREATE INDEX "stage_run_state_idx" ON "stage_run"("state");

-- CreateIndex
CREATE INDEX "agent_run_database_id_started_at_idx" ON "agent_run"("database_id", "started_at");

-- CreateIndex
CREATE INDEX "agent_run_stage_run_id_idx" ON "agent_run"("stage_run_id");

-- CreateIndex
CREATE INDEX "outbox_handled_at_id_idx" ON "outbox"("handled_at", "id");

-- CreateIndex
CREATE INDEX "effort_span_user_id_started_at_idx" ON "effort_span"("user_id", "started_at");

-- CreateIndex
CREATE INDEX "effort_span_task_id_idx" ON "effort_span"("task_id");

-- CreateIndex
CREATE INDEX "bundle_benchmark_id_created_at_idx" ON "bundle"("benchmark_id", "created_at");

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "blob_chunk" ADD CONSTRAINT "blob_chunk_hash_fkey" FOREIGN KEY ("hash") REFERENCES "blob"("hash") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "source_database" ADD CONSTRAINT "source_database_benchmark_id_fkey" FOREIGN KEY ("benchmark_id") REFERENCES "benchmark"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "item" ADD CONSTRAINT "item_benchmark_id_fkey" FOREIGN KEY ("benchmark_id") REFERENCES "benchmark"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "item" ADD CONSTRAINT "item_database_id_fkey" FOREIGN KEY ("database_id") REFERENCES "source_database"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artefact" ADD CONSTRAINT "artefact_benchmark_id_fkey" FOREIGN KEY ("benchmark_id") REFERENCES "benchmark"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artefact" ADD CONSTRAINT "artefact_database_id_fkey" FOREIGN KEY ("database_id") REFERENCES "source_database"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artefact" ADD CONSTRAINT "artefact_current_id_fkey" FOREIGN KEY ("current_id") REFERENCES "artefact_version"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artefact_version" ADD CONSTRAINT "artefact_version_artefact_id_fkey" FOREIGN KEY ("artefact_id") REFERENCES "artefact"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artefact_version" ADD CONSTRAINT "artefact_version_author_user_id_fkey" FOREIGN KEY ("author_user_id") REFERENCES "app_user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artefact_version" ADD CONSTRAINT "artefact_version_agent_run_id_fkey" FOREIGN KEY ("agent_run_id") REFERENCES "agent_run"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artefact_input" ADD CONSTRAINT "artefact_input_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "artefact_version"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artefact_input" ADD CONSTRAINT "artefact_input_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "artefact"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_benchmark_id_fkey" FOREIGN KEY ("benchmark_id") REFERENCES "benchmark"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_database_id_fkey" FOREIGN KEY ("database_id") REFERENCES "source_database"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_artefact_id_fkey" FOREIGN KEY ("artefact_id") REFERENCES "artefact"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_assignee_id_fkey" FOREIGN KEY ("assignee_id") REFERENCES "app_user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_decision_id_fkey" FOREIGN KEY ("decision_id") REFERENCES "decision"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "decision" ADD CONSTRAINT "decision_benchmark_id_fkey" FOREIGN KEY ("benchmark_id") REFERENCES "benchmark"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "decision" ADD CONSTRAINT "decision_database_id_fkey" FOREIGN KEY ("database_id") REFERENCES "source_database"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "decision" ADD CONSTRAINT "decision_task_id_fkey" FOREIGN KEY ("task_id") REFERENCES "task"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "decision" ADD CONSTRAINT "decision_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "artefact_version"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "decision" ADD CONSTRAINT "decision_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "decision" ADD CONSTRAINT "decision_undoes_id_fkey" FOREIGN KEY ("undoes_id") REFERENCES "decision"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "decision_input" ADD CONSTRAINT "decision_input_decision_id_fkey" FOREIGN KEY ("decision_id") REFERENCES "decision"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "lease" ADD CONSTRAINT "lease_task_id_fkey" FOREIGN KEY ("task_id") REFERENCES "task"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "lease" ADD CONSTRAINT "lease_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "comment" ADD CONSTRAINT "comment_task_id_fkey" FOREIGN KEY ("task_id") REFERENCES "task"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "comment" ADD CONSTRAINT "comment_artefact_id_fkey" FOREIGN KEY ("artefact_id") REFERENCES "artefact"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "comment" ADD CONSTRAINT "comment_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "artefact_version"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "comment" ADD CONSTRAINT "comment_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "comment" ADD CONSTRAINT "comment_resolved_id_fkey" FOREIGN KEY ("resolved_id") REFERENCES "app_user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "comment" ADD CONSTRAINT "comment_parent_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "comment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "directive" ADD CONSTRAINT "directive_database_id_fkey" FOREIGN KEY ("database_id") REFERENCES "source_database"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "directive" ADD CONSTRAINT "directive_decision_id_fkey" FOREIGN KEY ("decision_id") REFERENCES "decision"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "seen" ADD CONSTRAINT "seen_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "seen" ADD CONSTRAINT "seen_artefact_id_fkey" FOREIGN KEY ("artefact_id") REFERENCES "artefact"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "seen" ADD CONSTRAINT "seen_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "artefact_version"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "draft_text" ADD CONSTRAINT "draft_text_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "draft_text" ADD CONSTRAINT "draft_text_task_id_fkey" FOREIGN KEY ("task_id") REFERENCES "task"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "stage_run" ADD CONSTRAINT "stage_run_database_id_fkey" FOREIGN KEY ("database_id") REFERENCES "source_database"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_run" ADD CONSTRAINT "agent_run_database_id_fkey" FOREIGN KEY ("database_id") REFERENCES "source_database"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_run" ADD CONSTRAINT "agent_run_stage_run_id_fkey" FOREIGN KEY ("stage_run_id") REFERENCES "stage_run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_step" ADD CONSTRAINT "agent_step_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "agent_run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "effort_span" ADD CONSTRAINT "effort_span_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "effort_span" ADD CONSTRAINT "effort_span_task_id_fkey" FOREIGN KEY ("task_id") REFERENCES "task"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "bundle" ADD CONSTRAINT "bundle_benchmark_id_fkey" FOREIGN KEY ("benchmark_id") REFERENCES "benchmark"("id") ON DELETE CASCADE ON UPDATE CASCADE;


