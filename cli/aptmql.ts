import { UsageError, type Command } from './command';

const commands: Record<string, () => Promise<{ command: Command }>> = {
  convert: () => import('./commands/convert'),
  import: () => import('./commands/import'),
  run: () => import('./commands/run'),
  bundle: () => import('./commands/bundle'),
  verify: () => import('./commands/verify'),
  study: () => import('./commands/study'),
  mongo: () => import('./commands/mongo'),
  conformance: () => import('./commands/conformance'),
};

async function main([name, ...args]: string[]): Promise<number> {
  if (!name || name === '--help' || name === 'help') return listCommands();
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) {
    console.error(
      `aptmql: there is no command "${name}"; these exist: ${Object.keys(commands).join(', ')}`,
    );
    return 2;
  }
  const { command } = await load();
  if (args.includes('--help')) {
    console.log(command.help);
    return 0;
  }
  try {
    return await command.run(args);
  } catch (error) {
    if (error instanceof UsageError || isParseArgsError(error)) {
      console.error(`aptmql ${name}: ${error.message}\n\n${command.help}`);
      return 2;
    }
    const message = error instanceof Error ? error.message : String(error);
    console.error(`aptmql ${name}: ${message}`);
    if (args.includes('--json')) console.log(JSON.stringify({ error: message }));
    if (process.env.DEBUG) console.error(error);
    return 1;
  }
}

const isParseArgsError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');

async function listCommands(): Promise<number> {
  console.log(
    'usage: npm run aptmql -- <command> [options]   (--help after a command explains it)\n',
  );
  for (const [name, load] of Object.entries(commands)) {
    const { command } = await load();
    console.log(`  ${name.padEnd(12)} ${command.summary}`);
  }
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
