interface SampleItem {
  readonly question_id: number;
  readonly db_id: string;
  readonly question: string;
  readonly evidence: string;
  readonly SQL: string;
  readonly difficulty: 'simple' | 'moderate' | 'challenging';
}

const library = (
  question: string,
  evidence: string,
  SQL: string,
  difficulty: SampleItem['difficulty'] = 'simple',
) => ({ db_id: 'town_library', question, evidence, SQL, difficulty });
const sensors = (
  question: string,
  evidence: string,
  SQL: string,
  difficulty: SampleItem['difficulty'] = 'simple',
) => ({ db_id: 'river_sensors', question, evidence, SQL, difficulty });

/**
 * 40 items, from counts to windows and set operations; a few are awkward on purpose, as real
 * benchmarks are.
 */
export const sampleItems: readonly SampleItem[] = [
  library(
    'How many members have a valid card?',
    "valid card refers to is_active = 'TRUE'",
    "SELECT COUNT(*) FROM members WHERE is_active = 'TRUE'",
  ),
  library(
    'List the titles of all poetry books.',
    "poetry refers to genre = 'poetry'",
    "SELECT title FROM books WHERE genre = 'poetry'",
  ),
  library(
    'Which books have more than 800 pages?',
    'more than 800 pages refers to pages > 800',
    'SELECT title, pages FROM books WHERE pages > 800',
  ),
  library(
    'What is the average number of pages of history books?',
    "history books refers to genre = 'history'; average refers to AVG(pages)",
    "SELECT AVG(pages) FROM books WHERE genre = 'history'",
  ),
  library(
    'How many members have no e-mail address?',
    'no e-mail address refers to email IS NULL',
    'SELECT COUNT(*) FROM members WHERE email IS NULL',
  ),
  library(
    'In which cities are there branches?',
    'city refers to branches.city',
    'SELECT DISTINCT city FROM branches',
  ),
  library(
    'Give the number of books per genre.',
    'genre refers to books.genre',
    'SELECT genre, COUNT(*) FROM books GROUP BY genre',
  ),
  library(
    'Which five books are the newest?',
    'newest refers to MAX(published)',
    'SELECT title, published FROM books ORDER BY published DESC, book_id ASC LIMIT 5',
  ),
  library(
    'List the titles of the books that Ada has borrowed.',
    "Ada refers to given_name = 'Ada'",
    'SELECT DISTINCT T3.title FROM members AS T1 INNER JOIN loans AS T2 ON T1.member_id = ' +
      "T2.member_id INNER JOIN books AS T3 ON T2.book_id = T3.book_id WHERE T1.given_name = 'Ada'",
    'moderate',
  ),
  library(
    'How many loans has each member from Porto made?',
    "Porto refers to city = 'Porto'; loans refers to COUNT(loan_id)",
    'SELECT m.member_id, COUNT(l.loan_id) FROM branches b JOIN members m ON m.home_branch = ' +
      "b.branch_id JOIN loans l ON l.member_id = m.member_id WHERE b.city = 'Porto' GROUP BY " +
      'm.member_id',
    'moderate',
  ),
  library(
    'Name the authors of book 7 in their order.',
    'order refers to position',
    'SELECT a.name FROM book_authors ba JOIN authors a ON ba.author_id = a.author_id WHERE ' +
      'ba.book_id = 7 ORDER BY ba.position',
  ),
  library(
    'Which authors wrote more than four books?',
    'more than four books refers to COUNT(book_id) > 4',
    'SELECT a.name FROM authors a JOIN book_authors ba ON a.author_id = ba.author_id GROUP BY ' +
      'a.author_id HAVING COUNT(ba.book_id) > 4',
    'moderate',
  ),
  library(
    'How many unpaid late fees are there?',
    'unpaid refers to "Paid?" = \'no\'',
    'SELECT COUNT(*) FROM "Late Fees" WHERE "Paid?" = \'no\'',
  ),
  library(
    'For which loans with at least two renewals was a late fee charged?',
    'at least two renewals refers to renewals >= 2',
    'SELECT l.loan_id FROM loans l JOIN "Late Fees" f ON f.loan_id = l.loan_id WHERE ' +
      'l.renewals >= 2',
    'moderate',
  ),
  library(
    'Who recommended the library to Kofi?',
    "Kofi refers to given_name = 'Kofi'; recommended refers to referred_by",
    'SELECT r.given_name, r.family_name FROM members m JOIN members r ON m.referred_by = ' +
      "r.member_id WHERE m.given_name = 'Kofi'",
    'moderate',
  ),
  library(
    'Which books were never lent?',
    'never lent refers to book_id NOT IN (SELECT book_id FROM loans)',
    'SELECT title FROM books WHERE book_id NOT IN (SELECT book_id FROM loans)',
    'moderate',
  ),
  library(
    'What share of the loans is still out?',
    'still out refers to returned IS NULL; share = DIVIDE(COUNT(returned IS NULL), COUNT(loan_id))',
    'SELECT CAST(SUM(CASE WHEN returned IS NULL THEN 1 ELSE 0 END) AS REAL) / COUNT(loan_id) ' +
      'FROM loans',
    'moderate',
  ),
  library(
    'How many books were lent in March 2024?',
    "March 2024 refers to strftime('%Y-%m', lent) = '2024-03'",
    "SELECT COUNT(*) FROM loans WHERE strftime('%Y-%m', lent) = '2024-03'",
    'moderate',
  ),
  library(
    'Which members whose family name contains "ra" joined in 2023?',
    'family name contains "ra" refers to family_name LIKE \'%ra%\'; 2023 refers to joined ' +
      "LIKE '2023%'",
    "SELECT given_name, family_name FROM members WHERE family_name LIKE '%ra%' AND joined " +
      "LIKE '2023%'",
  ),
  library(
    'List authors without a year of birth or from Denmark.',
    "year of birth refers to born; Denmark refers to country = 'DK'",
    "SELECT name FROM authors WHERE born IS NULL OR country = 'DK'",
  ),
  library(
    'Which genres have an average of more than 400 pages?',
    'AVG(pages) > 400',
    'SELECT genre FROM books GROUP BY genre HAVING AVG(pages) > 400',
  ),
  library(
    'Titles that are novels or were published after 2020, each once.',
    "novels refers to genre = 'novel'; after 2020 refers to published > 2020",
    "SELECT title FROM books WHERE genre = 'novel' UNION SELECT title FROM books WHERE " +
      'published > 2020',
    'moderate',
  ),
  library(
    'Which authors wrote history but no poetry?',
    "history refers to genre = 'history'; poetry refers to genre = 'poetry'",
    'SELECT a.author_id FROM book_authors a JOIN books b ON a.book_id = b.book_id WHERE b.genre ' +
      "= 'history' EXCEPT SELECT a.author_id FROM book_authors a JOIN books b ON a.book_id = " +
      "b.book_id WHERE b.genre = 'poetry'",
    'challenging',
  ),
  library(
    'Rank the genres by their number of books.',
    'rank refers to RANK() OVER (ORDER BY COUNT(*) DESC)',
    'SELECT genre, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS position FROM books ' +
      'GROUP BY genre',
    'challenging',
  ),
  library(
    'How many covers are wider than 300 pixels?',
    'wider than 300 pixels refers to width > 300',
    'SELECT COUNT(*) FROM covers c JOIN books b ON b.book_id = c.book_id WHERE c.width > 300',
  ),
  library(
    'Which branch had the best mean answer to the first question in 2024?',
    'first question refers to q01',
    'SELECT b.name FROM branch_survey s JOIN branches b ON s.branch_id = b.branch_id WHERE ' +
      's.year = 2024 ORDER BY s.q01 DESC, b.branch_id LIMIT 1',
    'moderate',
  ),
  sensors(
    'How many stations report automatically?',
    "automatically refers to automatic = 'true'",
    "SELECT COUNT(*) FROM station WHERE automatic = 'true'",
  ),
  sensors(
    'List the stations on the Elbe by size.',
    "Elbe refers to river = 'Elbe'; size refers to größe",
    'SELECT name, "größe" FROM station WHERE river = \'Elbe\' ORDER BY "größe" DESC',
  ),
  sensors(
    'What was the highest water level at station ST01?',
    "ST01 refers to station = 'ST01'; highest refers to MAX(level)",
    "SELECT MAX(level) FROM reading WHERE station = 'ST01'",
  ),
  sensors(
    'How many readings does each station have?',
    'readings refers to COUNT(id)',
    'SELECT s.code, COUNT(r.id) FROM station s LEFT JOIN reading r ON r.station = s.code GROUP ' +
      'BY s.code',
    'moderate',
  ),
  sensors(
    'How many sensors are installed at no known station?',
    'no known station refers to station IS NULL OR station not in station.code',
    'SELECT COUNT(*) FROM sensor WHERE station IS NULL OR station NOT IN (SELECT code FROM ' +
      'station)',
    'moderate',
  ),
  sensors(
    'Which sensor types measure in metres?',
    'metres refers to "unit.si" = \'m\'',
    'SELECT label FROM "sensor.type" WHERE "unit.si" = \'m\'',
  ),
  sensors(
    'How many sensors of each type are there?',
    'type refers to label',
    'SELECT t.label, COUNT(*) FROM sensor s JOIN "sensor.type" t ON s.type_id = t.id GROUP ' +
      'BY t.label',
  ),
  sensors(
    'Which inspectors found a failure?',
    "failure refers to passed = 'N'",
    "SELECT DISTINCT inspector FROM inspection WHERE passed = 'N'",
  ),
  sensors(
    'How many visits did stations on the Oder pass?',
    "Oder refers to river = 'Oder'; pass refers to passed = 'Y'",
    'SELECT COUNT(*) FROM station s JOIN inspection i ON i.station = s.code WHERE s.river = ' +
      "'Oder' AND i.passed = 'Y'",
    'moderate',
  ),
  sensors(
    'What is the mean temperature of the flagged readings?',
    'flagged refers to flag = 1; mean temperature refers to AVG(температура)',
    'SELECT AVG("температура") FROM reading WHERE flag = 1',
  ),
  sensors(
    'Which station lies next upstream of ST05?',
    "next upstream refers to upstream; ST05 refers to code = 'ST05'",
    "SELECT u.name FROM station s JOIN station u ON s.upstream = u.code WHERE s.code = 'ST05'",
    'moderate',
  ),
  sensors(
    'For each station, the level above its own mean on readings of more than 8.9 metres.',
    '8.9 metres refers to level > 8.9',
    'SELECT id, level - AVG(level) OVER (PARTITION BY station) AS above FROM reading WHERE ' +
      'level > 8.9',
    'challenging',
  ),
  sensors(
    'Which stations have both a failed and a passed visit?',
    "failed refers to passed = 'N'; passed refers to passed = 'Y'",
    "SELECT station FROM inspection WHERE passed = 'N' INTERSECT SELECT station FROM inspection " +
      "WHERE passed = 'Y'",
    'moderate',
  ),
  sensors(
    'What did it cost to build ST03?',
    "cost refers to $cost; ST03 refers to code = 'ST03'",
    'SELECT "$cost" FROM station WHERE code = \'ST03\'',
  ),
].map((item, index) => ({ question_id: index, ...item }));
