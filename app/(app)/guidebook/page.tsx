import type { Metadata } from 'next';
import { guidebook } from '../../../agents/conceptual-design/prompt';
import { requireUser } from '../../require-user';
import { GuidebookPage } from '../../../components/guidebook/guidebook-page';

export const metadata: Metadata = { title: 'Design guidebook' };

export default async function Guidebook() {
  await requireUser(['admin', 'lead', 'reviewer']);
  return <GuidebookPage text={guidebook()} />;
}
