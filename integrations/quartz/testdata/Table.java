import java.text.ParseException;
import java.util.*;
import org.quartz.CronExpression;

/**
 * Table prints what Quartz makes of cron expressions: of those on its standard input, and of some hundred drawn from a seed.
 * A line has the zone, a start in seconds since 1970, the expression, and how many seconds after the start it fires next.
 * Where Quartz refuses an expression or does not end, the zone is "-".
 *
 * In this folder, with the jars that make elastic-job brings:
 * java -cp '../../../.cache/jars/*' Table.java < expressions.txt > quartz.tsv
 */
public class Table {
  static final Random random = new Random(7);
  static final String[] WEEK = "SUN MON TUE WED THU FRI SAT".split(" ");
  static final String[] MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
  static final String[] ZONES = {"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai", "America/Sao_Paulo"};
  // Around the changes of each zone's clocks, the ends of months and years, and a leap day.
  static final long[][] STARTS = {
    {1772323200L, 1798761599L, 1709164800L, 1783012345L},
    {1774744200L, 1792890000L, 1774742399L, 1792886400L, 1798758000L},
    {1772953199L, 1793505600L, 1793511000L, 1782864000L},
    {1775313000L, 1790953200L, 1775309400L},
    {1772294400L, 1785513600L},
    {1541300000L, 1518917400L}};

  static String pick(String... s) { return s[random.nextInt(s.length)]; }

  static int number(int lo, int hi) { return lo + random.nextInt(hi - lo + 1); }

  static String field(int lo, int hi) {
    int a = number(lo, hi), b = number(lo, hi), n = 1 + random.nextInt(Math.max(1, (hi - lo) / 2));
    switch (random.nextInt(8)) {
      case 0: return "*";
      case 1: return "*/" + n;
      case 2: return a + "/" + n;
      case 3: return a + "-" + b;
      case 4: return a + "-" + b + "/" + n;
      case 5: return a + "," + b;
      case 6: return a + "," + b + "-" + number(lo, hi) + "," + lo + "/" + n;
      default: return "" + a;
    }
  }

  static String days() {
    switch (random.nextInt(9)) {
      case 0: return "L";
      case 1: return "LW";
      case 2: return "L-" + random.nextInt(31);
      case 3: return number(1, 31) + "W";
      case 4: return "L-" + random.nextInt(31) + "W";
      default: return field(1, 31);
    }
  }

  static String week() {
    String d = random.nextBoolean() ? pick(WEEK) : "" + number(1, 7);
    switch (random.nextInt(8)) {
      case 0: return d + "L";
      case 1: return d + "#" + number(1, 5);
      case 2: return pick(WEEK) + "-" + pick(WEEK);
      case 3: return pick(WEEK) + "," + pick(WEEK).toLowerCase();
      case 4: return d;
      case 5: return "L";
      default: return field(1, 7);
    }
  }

  static String months() {
    switch (random.nextInt(4)) {
      case 0: return "*";
      case 1: return pick(MONTHS) + "-" + pick(MONTHS);
      case 2: return pick(MONTHS).toLowerCase() + "," + pick(MONTHS);
      default: return field(1, 12);
    }
  }

  static String years() {
    return random.nextInt(4) > 0 ? "" : " " + pick("*", "2027", "2026-2028", "2024/4", "2025,2030", "2020-2099/3", "1999");
  }

  static String expression() {
    boolean byDay = random.nextBoolean();
    return (random.nextInt(3) > 0 ? "0" : field(0, 59)) + " " + field(0, 59) + " " + field(0, 23) + " " + (byDay ? days() : "?") + " "
        + (random.nextBoolean() ? "*" : months()) + " " + (byDay ? "?" : week()) + years();
  }

  /** after asks Quartz, which does not end for some expressions. */
  static Date after(CronExpression c, Date d) throws Throwable {
    Object[] out = new Object[2];
    Thread t = new Thread(() -> {
      try { out[0] = c.getTimeAfter(d); } catch (Throwable x) { out[1] = x; }
    });
    t.setDaemon(true);
    t.start();
    t.join(5000);
    if (t.isAlive()) throw new IllegalStateException("it does not end");
    if (out[1] != null) throw (Throwable) out[1];
    return (Date) out[0];
  }

  static String fires(String expression, String zone, long start) throws Throwable {
    CronExpression c = new CronExpression(expression);
    c.setTimeZone(TimeZone.getTimeZone(zone));
    StringBuilder b = new StringBuilder();
    Date d = new Date(start * 1000);
    for (int i = 0; i < 4; i++) {
      d = after(c, d);
      b.append(i > 0 ? " " : "").append(d == null ? "never" : "" + (d.getTime() / 1000 - start));
      if (d == null) break;
    }
    return b.toString();
  }

  public static void main(String[] a) throws Exception {
    Set<String> all = new LinkedHashSet<>();
    for (Scanner in = new Scanner(System.in, "UTF-8"); in.hasNextLine();) all.add(in.nextLine());
    for (int i = 0; i < 260; i++) all.add(expression());
    System.out.println("# Printed by Table.java. What Quartz 2.3.2 made of each expression: see there.");
    int nth = 0;
    for (String e : all) {
      String shown = e.replace("\t", "\\t");
      out: for (int z = 0; z < ZONES.length; z++) {
        for (long start : STARTS[z]) {
          // Every expression has two or more lines; those of clock times have all.
          if (!e.endsWith(" * * ?") && z + nth++ % 3 > 1) continue;
          try {
            System.out.println(ZONES[z] + "\t" + start + "\t" + shown + "\t" + fires(e, ZONES[z], start));
          } catch (Throwable x) {
            System.out.println("-\t0\t" + shown + "\t" + x.getMessage());
            break out;
          }
        }
      }
    }
    System.out.flush();
    Runtime.getRuntime().halt(0); // threads that do not end
  }
}
