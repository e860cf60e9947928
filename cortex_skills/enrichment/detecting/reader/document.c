// What the host asks of a document: all of its parts at once.
//
// Rules kept here:
// - the rows of a document hold each of its parts, as lines that follow each other: forms and codes are looked for in
//   the rows, and noted of the lines; parts are judged by their words, beside the signs that were noted of their lines;
// - where it is not sure that a pattern stands, the host looks; a lesser sign counts where it may stand;
// - texts may be asked about for their words alone, beside signs that the host names; nothing else is looked for then.
#include "coded_lines.h"
#include "forms.h"
#include "parts.h"

// What is asked, and how much of each stands behind it: the parts, and the sizes of the lines that the host has folded;
// then the rows, with line ends between them; then those lines, each as it was written, as it is read, and as it looks.
// Who writes texts does not know the seed of the hashes by which their lines are found again.
typedef struct {
  uint32_t parts, folded, is_document, signs, rows, size;
  uint64_t seed;
} Question;
// A part: the number of its first row, and how many it has.
typedef struct {
  uint32_t first, count;
} Span;
typedef struct {
  uint32_t raw, read, plain;
} FoldedLine;

enum { AS_VIEWS = AS_SEEN + 1, LOOKED };

// What the host is told, and how much of each stands behind it: a number for each part, as in `shapes.py`, the part and
// the disguise of each view; then of the rows as they are written, as they look, and of the views, the places of
// patterns but those of lesser signs, the ends of each text, and the texts. Ends and texts are told when the host may
// need them.
typedef struct {
  uint32_t places, ends, text;
} Told;
typedef struct {
  uint32_t size, parts, views;
  Told looked[LOOKED];
} Answer;

// Texts in which forms were looked for.
typedef struct {
  Joined joined;
  Places places;
} Looked;

static const Question *asked;
static const Span *spans; // by part
static Text whole;
static Lines rows;
static uint32_t *row_ends; // by row: the place behind it
static Part *parts;
static View *views;
static uint32_t view_count;
// Forms, by way, and those of the views.
static Looked looked[LOOKED];

static void add_part(Part part, uint32_t number) {
  part.first_view = view_count;
  if (part.shown) view_count = put_views(views + view_count, &part) - views;
  part.behind_views = view_count;
  for (uint32_t each = part.first_view; each < view_count; each++) {
    views[each].part = number;
    views[each].signs = asked->is_document ? 0 : asked->signs;
  }
  parts[number] = part;
}

// Takes the rows; false when the host must fold one of them.
static bool take_rows(void) {
  rows = (Lines){take(asked->rows * sizeof *rows.at), 0};
  row_ends = take(asked->rows * sizeof *row_ends);
  for (Text left = whole; rows.count < asked->rows; rows.count++) {
    Text row = taken_until('\n', &left);
    if (!(rows.at[rows.count] = line_of(row))) return false;
    row_ends[rows.count] = row.at + row.size - whole.at;
  }
  return true;
}

static Text raw_of(Span span) {
  uint32_t start = span.first ? row_ends[span.first - 1] + 1 : 0;
  return (Text){whole.at + start, row_ends[span.first + span.count - 1] - start};
}

static void take_parts(void) {
  for (uint32_t each = 0; each < asked->parts; each++) {
    Span span = spans[each];
    if (!span.count || span.first >= rows.count || span.count > rows.count - span.first) __builtin_trap();
    add_part(part_of((Lines){rows.at + span.first, span.count}, raw_of(span)), each);
  }
}

static Text taken(const uint8_t **at, uint32_t size) {
  Text text = {*at, size};
  *at += size;
  return text;
}

// Takes all that is asked about; false when the host must fold a line.
static bool take_question(void) {
  asked = given();
  spans = (const Span *)(asked + 1);
  const FoldedLine *folded = (const FoldedLine *)(spans + asked->parts);
  const uint8_t *at = (const uint8_t *)(folded + asked->folded);
  whole = taken(&at, asked->size);
  begin_lines(asked->rows + asked->folded, asked->seed);
  for (uint32_t each = 0; each < asked->folded; each++) {
    Text raw = taken(&at, folded[each].raw), read = taken(&at, folded[each].read);
    add_folded_line(raw, read, taken(&at, folded[each].plain));
  }
  parts = take(asked->parts * sizeof *parts);
  views = take(asked->parts * MOST_VIEWS * sizeof *views);
  view_count = 0;
  // What is not known of characters is asked for before anything else is done.
  if (!take_rows() || met_unknown) return false;
  take_parts();
  return true;
}

// In which way a line is told of that is read in a way: as it looks, when it is written so.
static Way told_in(const Line *line, Way way) {
  return line->readings[way] == line->readings[AS_SEEN] ? AS_SEEN : way;
}

static Piece piece_of(Line *line, Way way, bool is_told) {
  return (Piece){line->readings[way]->text.size, is_told, forms_of_line(line, way)};
}

static Joined joined_rows(Way way) {
  uint32_t *ends = take(rows.count * sizeof *ends), end = 0;
  Piece *pieces = take(rows.count * sizeof *pieces);
  for (uint32_t each = 0; each < rows.count; each++) {
    pieces[each] = piece_of(rows.at[each], way, told_in(rows.at[each], way) != way);
    ends[each] = end += (each != 0) + pieces[each].size;
  }
  return (Joined){text_of_lines(rows, way), ends, pieces, rows.count, rows.count};
}

static uint32_t count_pieces(const View *view) {
  return view->way < WAYS && view->way != APART ? parts[view->part].lines.count : 1;
}

// Writes the pieces of a view; behind the last of them.
static Piece *put_pieces(Piece *to, const View *view) {
  Lines lines = parts[view->part].lines;
  uint32_t count = count_pieces(view);
  // What is parted at capitals is read for its words alone.
  if (view->way == APART) *to = (Piece){view->text.size, false, {0}};
  else if (view->way == WAYS) *to = (Piece){view->text.size, false, forms_in(view->text)};
  else
    for (uint32_t each = 0; each < count; each++) to[each] = piece_of(lines.at[each], view->way, false);
  return to + count;
}

static Joined joined_views(void) {
  uint32_t *ends = take(view_count * sizeof *ends), size = 0, piece_count = 0;
  for (uint32_t each = 0; each < view_count; each++) {
    ends[each] = size += (each != 0) + views[each].text.size;
    piece_count += count_pieces(&views[each]);
  }
  uint8_t *text = take(size);
  for (uint32_t each = 0; each < view_count; each++) {
    Text view = views[each].text;
    if (each) text[ends[each] - view.size - 1] = '\n';
    __builtin_memcpy(text + ends[each] - view.size, view.at, view.size);
  }
  Piece *pieces = take(piece_count * sizeof *pieces), *piece = pieces;
  for (uint32_t each = 0; asked->is_document && each < view_count; each++) piece = put_pieces(piece, &views[each]);
  return (Joined){{text, size}, ends, pieces, view_count, piece - pieces};
}

static void note_sign(uint32_t sign, uint32_t number, uint32_t way) {
  if (way == AS_VIEWS) views[number].signs |= sign;
  else rows.at[number]->noted.signs[way] |= sign;
}

// Notes where the lesser signs may stand; the other forms are left.
static void note_signs(Places *found, uint32_t way) {
  uint32_t left = 0;
  for (uint32_t each = 0; each < found->count; each++) {
    Place place = found->places[each];
    uint32_t sign = sign_of(place.pattern);
    if (sign) note_sign(sign, place.number, way);
    else found->places[left++] = place;
  }
  found->count = left;
}

static void look_for_forms(Joined texts, uint32_t way) {
  looked[way] = (Looked){texts, places_in(texts)};
  note_signs(&looked[way].places, way);
}

// Notes what views may be over their lines, whose pieces follow each other.
static void look_over_lines(const Piece *pieces) {
  for (uint32_t each = 0; each < view_count; each++) {
    View *view = &views[each];
    uint32_t count = count_pieces(view);
    if (view->way != APART && count_of('\n', view->text)) {
      Formed found = formed_over_lines(view->text, pieces, count, false);
      view->signs |= found.signs;
      view->may_be_order = found.may_be_order;
    }
    pieces += count;
  }
}

static void look_for_codes(void) {
  uint32_t count;
  const LineInCode *lines = lines_in_code(whole, &count);
  for (uint32_t each = 0; each < count; each++) {
    Noted *noted = &rows.at[lines[each].number]->noted;
    if (lines[each].what % PLUS) noted->is_coded = true;
    noted->pluses = lines[each].what / PLUS;
    noted->foreign = lines[each].foreign;
  }
}

static uint32_t size_of_all(void) {
  uint32_t size = whole.size;
  for (uint32_t each = 0; each < asked->parts; each++) size += parts[each].raw.size;
  return size;
}

static void look_at_rows(void) {
  bool is_alike = are_read_alike(rows, AS_WRITTEN, AS_SEEN);
  begin_forms(size_of_all());
  look_for_forms(joined_rows(AS_SEEN), AS_SEEN);
  if (!is_alike) look_for_forms(joined_rows(AS_WRITTEN), AS_WRITTEN);
  look_for_forms(joined_views(), AS_VIEWS);
  look_over_lines(looked[AS_VIEWS].joined.pieces);
  look_for_codes();
}

// The lesser signs that may stand in the lines of a part, as it is read in a way.
static uint32_t signs_in(const Part *part, Way way) {
  uint32_t found = 0;
  for (uint32_t each = 0; each < part->lines.count; each++) {
    const Line *line = part->lines.at[each];
    found |= line->noted.signs[told_in(line, way)];
  }
  return found;
}

static bool may_be_coded(const Part *part) {
  uint32_t pluses = 0, foreign = 0;
  for (uint32_t each = 0; each < part->lines.count; each++) {
    const Noted *noted = &part->lines.at[each]->noted;
    if (noted->is_coded) return true;
    pluses += noted->pluses;
    foreign += noted->foreign;
  }
  return are_code(pluses, foreign, part->raw);
}

static uint32_t judged(const Part *part) {
  int32_t rule;
  if (!asked->is_document) return said_by(part, views, (Signs){asked->signs, asked->signs}, &rule);
  Formed as_seen = formed_as_seen(part), as_written = formed_as_written(part);
  uint32_t found = as_seen.may_be_order || as_written.may_be_order ? WORDS : 0;
  for (uint32_t each = part->first_view; each < part->behind_views; each++)
    if (views[each].may_be_order) found |= views[each].disguise;
  if (may_be_coded(part)) found |= CODE;
  if (flags_of(part->lines) & MAY_NAME_SPEAKER) found |= TURN;
  Signs signs = {signs_in(part, AS_WRITTEN) | as_written.signs, signs_in(part, AS_SEEN) | as_seen.signs};
  uint32_t said = said_by(part, views, signs, &rule);
  // What has no form and no sign is what its words are.
  bool is_sure = rule >= 0 && !(found & (WORDS | TURN)) && !(signs.written | signs.seen);
  return found | said | (is_sure ? (uint32_t)(rule + 1) << ABOVE : 0);
}

static bool is_text_told(uint32_t way) {
  if (way == AS_VIEWS && !asked->is_document) return true;
  return looked[way].places.count != 0;
}

static Told told_of(uint32_t way) {
  const Looked *some = &looked[way];
  bool is_told = is_text_told(way);
  return (Told){
      .places = some->places.count,
      .ends = is_told ? some->joined.count : 0,
      .text = is_told ? some->joined.text.size : 0,
  };
}

static void *put(void *to, const void *from, uint32_t size) {
  return (uint8_t *)__builtin_memcpy(to, from, size) + size;
}

static Answer *answer(void) {
  Answer head = {.parts = asked->parts, .views = view_count};
  head.size = sizeof head + (head.parts + 2 * head.views) * sizeof(uint32_t);
  for (uint32_t way = 0; way < LOOKED; way++) {
    Told told = head.looked[way] = told_of(way);
    head.size += told.places * sizeof(Place) + told.ends * sizeof(uint32_t) + told.text;
  }
  Answer *found = take(head.size);
  uint32_t *number = put(found, &head, sizeof head);
  for (uint32_t each = 0; each < head.parts; each++) *number++ = judged(&parts[each]);
  for (uint32_t each = 0; each < view_count; each++) {
    *number++ = views[each].part;
    *number++ = views[each].disguise;
  }
  void *end = number;
  for (uint32_t way = 0; way < LOOKED; way++)
    end = put(end, looked[way].places.places, head.looked[way].places * sizeof(Place));
  for (uint32_t way = 0; way < LOOKED; way++)
    end = put(end, looked[way].joined.ends, head.looked[way].ends * sizeof(uint32_t));
  for (uint32_t way = 0; way < LOOKED; way++) end = put(end, looked[way].joined.text.at, head.looked[way].text);
  return found;
}

// What each part says, and what may stand where: where `Answer` stands.
EXPORT("look") int32_t look(void) {
  if (!take_question()) return answered(FOLD_IT);
  __builtin_memset(looked, 0, sizeof looked);
  if (asked->is_document) look_at_rows();
  else looked[AS_VIEWS].joined = joined_views();
  return answered((int32_t)answer());
}
