import { handler } from '@/lib/http/handler';
import { json } from '@/lib/http/json';
import type { Health } from '@/lib/http/api-error';
import { processMongo } from '@/lib/pipeline/process-mongo';

export const GET = handler({ access: 'public' }, async ({ db }) => {
  const answers = (check: Promise<unknown>): Promise<boolean> =>
    check.then(
      () => true,
      () => false,
    );
  const [postgres, mongo] = await Promise.all([
    answers(db.prisma.$queryRaw`SELECT 1`),
    answers(
      processMongo().then((client) => client.db('admin').command({ ping: 1 }, { timeoutMS: 3000 })),
    ),
  ]);
  const health: Health = { ok: postgres && mongo, postgres, mongo };
  return json(health.ok ? 200 : 503, health);
});
