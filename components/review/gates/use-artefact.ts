'use client';
import { useQuery } from '@tanstack/react-query';
import type { VersionDetail } from '../../../lib/artefacts/artefact-api';
import type { ArtefactKind } from '../../../lib/pipeline/stages/stage';
import { api, query } from '../../api';

/** The content of another artefact of the same database. */
export function useArtefact<T>(databaseId: string, kind: ArtefactKind, key: string) {
  return useQuery({
    queryKey: ['artefact', databaseId, kind, key],
    queryFn: () =>
      api<{ current: VersionDetail }>(`/api/artefacts${query({ databaseId, kind, key })}`).then(
        ({ current }) => current.content as T,
      ),
    staleTime: 10_000,
  });
}
